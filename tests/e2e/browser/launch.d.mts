import type { Browser, BrowserServer } from "playwright-core";

export declare const launch: () => Promise<Browser>;
export declare const launchServer: () => Promise<BrowserServer>;
