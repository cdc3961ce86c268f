/** Parses CSV into records of cells; throws a SyntaxError for bad quotes. */
export declare function parse(
  input: string,
  options?: { readonly separator?: string },
): string[][];
