DELETE FROM page WHERE tag = '';
