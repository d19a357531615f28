// Starts the page: its texts first, then the router with the query client.
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import i18next from "i18next";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { Problem } from "./api/problem";
import * as queries from "./api/queries";
import { buildRouter } from "./app/router";
import { markSessionExpired } from "./app/sessionExpired";
import { SessionExpiredDialog } from "./app/SessionExpiredDialog";
import "./app/theme.css";
import { startLanguage } from "./lib/language";
import { read, write } from "./lib/localStorage";

const RENEW_EVERY = 30_000;

// A new version of the page was installed while this one was open, and a file of the old one is gone: load the new one.
addEventListener("vite:preloadError", (event) => {
  if (Date.now() - Number(read("renewed") ?? 0) < RENEW_EVERY) return;
  event.preventDefault();
  write("renewed", String(Date.now()));
  location.reload();
});

const retriable = (error: unknown) => error instanceof Problem && (error.status === 0 || error.status >= 500);

/** Whether a session has ended; a wrong password at the login is not such a case. */
function showError(error: unknown): void {
  const entered = client.getQueryData(queries.me.queryKey) !== undefined;
  if (error instanceof Problem && error.status === 401 && entered) markSessionExpired();
}

const client: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: showError }),
  mutationCache: new MutationCache({ onError: showError }),
  defaultOptions: { queries: { retry: (count, error) => count < 2 && retriable(error), staleTime: 5_000 } },
});
const router = buildRouter(client);

await startLanguage();
// cached responses contain texts of the Host in the former language
i18next.on("languageChanged", () => void client.invalidateQueries());
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
      <SessionExpiredDialog />
    </QueryClientProvider>
  </StrictMode>,
);
