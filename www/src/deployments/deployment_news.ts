import type { ListedDeployment } from "quillgate";
import { News } from "../live/news.ts";

export const deploymentNews = new News<ListedDeployment>();
