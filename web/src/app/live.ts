// Follows the live channel while the user is logged in.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { follow } from "../api/live";

export function useLive(): boolean {
  const client = useQueryClient();
  const [connected, setConnected] = useState(true);
  useEffect(() => follow(client, setConnected), [client]);
  return connected;
}
