// Every test reads the page in English, and leaves nothing on it for the next.
import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";

import { startLanguage } from "../src/lib/language";

await startLanguage();
afterEach(cleanup);
