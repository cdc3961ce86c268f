/** What answers of the service say at most. @module */

import type { AnswerLimits } from "@sig/core";

/**
 * The feed decides how many relationships a subject has: an answer tells of the
 * first of them, and how many are left out. It rests upon all of them.
 */
export const ANSWER_LIMITS: Required<AnswerLimits> = Object.freeze({
  maxExplained: 1_000,
  maxVerdicts: 8_192,
  maxReasons: 100,
});
