import { render } from "preact";
import { App } from "./app.tsx";
import { resumeSession } from "./session.ts";

resumeSession();
const page = document.getElementById("page");
if (page) render(<App />, page);
