// Starts the page: words first, then the router in its query client.
import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import "./app/theme.css";
import { Problem } from "./api/problem";
import { SessionOver } from "./app/SessionOver";
import { buildRouter } from "./app/router";
import { markSessionOver } from "./app/sessionOver";
import { startLanguage } from "./lib/language";

const retriable = (error: unknown) => error instanceof Problem && (error.status === 0 || error.status >= 500);

const client = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      if (error instanceof Problem && error.status === 401 && query.state.data !== undefined) markSessionOver();
    },
  }),
  defaultOptions: { queries: { retry: (count, error) => count < 2 && retriable(error), staleTime: 5_000 } },
});
const router = buildRouter(client);

await startLanguage();
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
      <SessionOver />
    </QueryClientProvider>
  </StrictMode>,
);
