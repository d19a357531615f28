// The roles that a user may assign: admins manage operators and viewers, owners manage all.
import type { Role } from "../../api/types";

export const ROLES: Role[] = ["owner", "admin", "operator", "viewer"];

export function manageable(role: Role | undefined): Role[] {
  if (role === "owner") return ROLES;
  return role === "admin" ? ["operator", "viewer"] : [];
}
