/** Moved to `output/`. @module */

export * from "../output/table.ts";
export * from "../output/write.ts";
