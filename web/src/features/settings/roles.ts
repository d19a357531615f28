// Which roles somebody may give: admins manage operators and viewers, owners everybody.
import type { Role } from "../../api/types";

export const ROLES: Role[] = ["owner", "admin", "operator", "viewer"];

export function manageable(by: Role | undefined): Role[] {
  if (by === "owner") return ROLES;
  return by === "admin" ? ["operator", "viewer"] : [];
}
