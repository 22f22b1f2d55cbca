/** Routes that Lighthouse measures; `npm run bench -- page:views` measures a single one. */
export const ROUTES = ["sign-in", "today", "jobs", "views", "visitors", "feedback", "searches"];
