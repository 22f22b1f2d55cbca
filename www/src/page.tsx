import "./address_parts.ts";
import { render } from "preact";
import { App } from "./app.tsx";
import { followSession } from "./session/session.ts";
import { listenForPalette } from "./shell/commands.ts";
import { followFocus } from "./shell/follow_focus.ts";
import { listenForKeys } from "./shell/keys.ts";
import { followAddress } from "./shell/navigation.ts";
import { followTranslation } from "./shell/translation.ts";

followAddress();
followSession();
listenForKeys();
followFocus();
listenForPalette();
const page = document.getElementById("page");
if (page) {
  page.replaceChildren();
  followTranslation(page);
  render(<App />, page);
}
