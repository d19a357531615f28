// Builds the page into the Host's package, from where it is served and shipped.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const host = process.env.PARLOUR_HOST ?? "http://127.0.0.1:5300";

const OUT = process.env.PARLOUR_PAGE ?? "../packages/host/src/parlour/page";

/** Makes each file smaller once, so that the Host never has to. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    async closeBundle() {
      const names = (await readdir(OUT, { recursive: true })).filter((name) => /\.(js|css|svg|html)$/.test(name));
      for (const name of names) {
        await writeFile(`${OUT}/${name}.gz`, await promisify(gzip)(await readFile(`${OUT}/${name}`), { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  // files are named relative to each other: the Host may be served below a prefix
  base: "./",
  plugins: [react(), tailwindcss(), compressed()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    assetsDir: "assets",
    // the policy of the page forbids data: addresses for anything but images
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": { target: host, ws: true, changeOrigin: false } } },
  test: {
    environment: "happy-dom",
    include: ["tests/**/*.test.{ts,tsx}"],
    setupFiles: ["tests/setup.ts"],
    // a document for each file costs more than all the tests: setup.ts clears it after each
    isolate: false,
    pool: "threads",
  },
});
