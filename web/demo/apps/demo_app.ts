/** An application of the demo, as the page is told of it. @module */

/** An application that people log in to with the key of the page. */
export interface DemoApp {
  /** What people call it. */
  readonly name: string;
  /** Its origin: another one than that of the login. */
  readonly url: string;
  /** How it knows people, in a sentence. */
  readonly how: string;
  /** Whether it would show its pages to somebody who has opened it. */
  isOpenTo(subject: string): Promise<boolean>;
}

/** Who is logged in to an application. */
export interface Visitor {
  /** The person's DID. */
  readonly subject: string;
  /** What people call them. */
  readonly name: string;
  /** What they are: `employee`, `role:deploy`. */
  readonly groups: readonly string[];
}

/** Records that an application keeps of one kind; the oldest ones go first. */
export const MAX_KEPT = 100;

/** Keeps a record, and forgets the oldest one where there are too many. */
export function keep<T>(records: Map<string, T>, id: string, record: T): void {
  records.delete(id);
  records.set(id, record);
  for (const oldest of records.keys()) {
    if (records.size <= MAX_KEPT) break;
    records.delete(oldest);
  }
}
