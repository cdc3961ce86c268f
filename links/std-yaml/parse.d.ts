/** Parses one YAML document; throws a SyntaxError. */
export declare function parse(
  content: string,
  options?: {
    /** `core`: JSON's types and YAML's spellings of them; no dates. */
    readonly schema?: "failsafe" | "json" | "core" | "default" | "extended";
    /** Whether a later member of the same name wins (default: an error). */
    readonly allowDuplicateKeys?: boolean;
  },
): unknown;
