/** What a server is made of: a function from request to response. @module */

/** Answers requests; runs on any server that speaks `Request` and `Response`. */
export interface App {
  /**
   * Answers one request and never rejects. `info` is what `Deno.serve` tells of
   * the connection; without it the client's address is not known.
   */
  fetch(request: Request, info?: unknown): Promise<Response>;
}
