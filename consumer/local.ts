/**
 * Files of an issuer's directory, for programs that serve or copy them.
 *
 * @module
 */
export { type InsideFile, type NotInside, openInside } from "./open_inside.ts";
