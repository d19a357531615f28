// Starts the project's own browser. Its sandbox is off, since it shows nothing but pages of Hosts that tests started.
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

const folder = fileURLToPath(new URL("../../../.tools/browser", import.meta.url));

const options = {
  executablePath: join(folder, "chromium"),
  chromiumSandbox: false,
  args: ["--font-render-hinting=none", "--disable-gpu"],
  env: {
    ...process.env,
    FONTCONFIG_FILE: join(folder, "fonts.conf"),
    LD_LIBRARY_PATH: join(folder, "lib"),
  },
};

/** A browser of one's own. */
export const launch = () => chromium.launch(options);

/** One that several test processes share: each connects to its address. */
export const launchServer = () => chromium.launchServer({ ...options, host: "127.0.0.1" });
