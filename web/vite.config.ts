import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

const OUTPUT = "../src/ordito/server/web";
/** Below this many bytes compressing saves nothing. */
const SMALL = 1024;

/** Compresses what was built once, so that the server never has to. */
function compressed(): Plugin {
  let folder = "";
  return {
    name: "compressed",
    apply: "build",
    configResolved({ root, build }) {
      folder = resolve(root, build.outDir);
    },
    closeBundle() {
      for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
        if (!/\.(js|css|html|svg)$/.test(name)) continue;
        const file = join(folder, name);
        const content = readFileSync(file);
        if (content.length < SMALL) continue;
        writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
        const most = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
        writeFileSync(`${file}.br`, brotliCompressSync(content, { params: most }));
      }
    },
  };
}

export default defineConfig({
  clearScreen: false,
  cacheDir: "node_modules/.vite",
  logLevel: "warn",
  build: {
    outDir: OUTPUT,
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    // The policy of the page forbids what a polyfill would do, and all browsers that it is for can preload.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: "parts.json",
    // What is in it of others, for the page of administrators.
    license: { fileName: "licences.json" },
    rolldownOptions: {
      onLog(level, log, tell) {
        // What packages say to servers that render their parts is nothing to a browser.
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") tell(level, log);
      },
      output: {
        // What changes rarely is a file of its own, which browsers keep.
        codeSplitting: {
          groups: [
            // With what others need too: else it would be in a later group, which all pages then had to load.
            { name: "react", test: /node_modules\/(react|react-dom|scheduler|use-sync-external-store)\//, priority: 1 },
          ],
        },
      },
    },
  },
  plugins: [compressed()],
});
