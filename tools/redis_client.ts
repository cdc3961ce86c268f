/** The part of `@redis/client` that the programs use. @module */

export { createClient } from "@redis/client";
