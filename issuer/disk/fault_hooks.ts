/** Places where a test may interrupt the issuer. @module */

/**
 * For fault injection in tests: never needed in production. A hook may throw
 * (the step fails) or end the process (a crash at that step).
 */
export interface FaultHooks {
  /**
   * Called when a step has just been done: `locked`, `recovered`, `wrote-part`,
   * `written`, `synced`, `indexed`, `torn-kept`, `key-stored`, and
   * `temp-written <path>`, `renamed <path>`, `created <path>` of the documents.
   */
  readonly onStep?: (step: string) => void;
  /** Bytes handed to the system in one write of the feed; no limit unless set. */
  readonly maxWriteBytes?: number;
}
