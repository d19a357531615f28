// One file after the other, since they share a browser and a Host. `make e2e` runs the files in two halves.
import { defineConfig } from "vitest/config";

/** The files of each mode: tests, long tests, or screenshots. */
const FILES: Record<string, string> = { test: "*.test.ts", long: "*.long.ts", screenshots: "screenshots/take.ts" };

export default defineConfig(({ mode }) => ({
  test: {
    include: [FILES[mode] ?? FILES.test!],
    globalSetup: ["support/stage.ts"],
    fileParallelism: false,
    isolate: false,
    // against a hang only: a loaded machine takes its time
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
}));
