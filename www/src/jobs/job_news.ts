import type { ListedJob } from "quillgate";
import { News } from "../live/news.ts";

export const jobNews = new News<ListedJob>();
