import { render } from "preact";
import { App } from "./app.tsx";
import { followSession } from "./session/session.ts";
import { listenForKeys } from "./shell/keys.ts";

followSession();
listenForKeys();
const page = document.getElementById("page");
if (page) render(<App />, page);
