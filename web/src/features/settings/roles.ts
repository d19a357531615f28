// The roles that a user may assign: admins manage operators and viewers, owners manage all.
import type { Role } from "../../api/types";

export const ROLES: Role[] = ["owner", "admin", "operator", "viewer"];

export function manageable(by: Role | undefined): Role[] {
  if (by === "owner") return ROLES;
  return by === "admin" ? ["operator", "viewer"] : [];
}
