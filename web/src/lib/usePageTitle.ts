// The title of the browser tab: what the page is about, then the product's name.
import { useEffect } from "react";

export function usePageTitle(name: string): void {
  useEffect(() => {
    document.title = name ? `${name} · Parlour` : "Parlour";
  }, [name]);
}
