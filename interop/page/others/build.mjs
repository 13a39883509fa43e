// Makes of each file in vendor/ a module that browsers load.
import { build } from "esbuild";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

await build({
  entryPoints: ["copilotkit", "assistant-ui"].map((name) => here(`vendor/${name}.js`)),
  outdir: here("built"),
  bundle: true,
  splitting: true,
  format: "esm",
  minify: true,
  define: { "process.env.NODE_ENV": '"production"' },
  // Fonts, for formulas.
  loader: { ".ttf": "empty", ".woff": "empty", ".woff2": "empty" },
  logLevel: "warning",
});
