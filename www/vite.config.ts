import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  // Pre-bundling would move the package away from the wasm file beside it.
  optimizeDeps: { exclude: ["quillgate"] },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2022",
    // New enough for light-dark(), which would otherwise be lowered to twice its size.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // A data: URL for the wasm file or an image would need a weaker content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
});
