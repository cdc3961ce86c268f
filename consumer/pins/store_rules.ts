/** Holding a driver of a store against the rules of its contract. @module */

/** What a rule is held against: a store, perhaps two ways in, and their end. */
export interface Closable {
  /** Closes the store, and every other way in. */
  readonly close: () => Promise<void>;
}

/** One rule of a contract, named by its sentence. */
export interface StoreRule<Opened extends Closable> {
  /** The rule as a sentence. */
  readonly name: string;
  /** Rejects with an `AssertionError` when the store breaks the rule. */
  readonly hold: (opened: Opened) => Promise<void>;
}

/**
 * Registers a test for each rule with `Deno.test`, named `<driver>: <rule>`.
 * `open` is called for each of them; `ignore` names them without running them,
 * where the database is not there.
 */
export function testStoreRules<Opened extends Closable>(
  driver: string,
  rules: readonly StoreRule<Opened>[],
  open: () => Promise<Opened>,
  ignore = false,
): void {
  for (const { name, hold } of rules) {
    Deno.test({
      name: `${driver}: ${name}`,
      ignore,
      async fn() {
        const opened = await open();
        try {
          await hold(opened);
        } finally {
          await opened.close();
        }
      },
    });
  }
}
