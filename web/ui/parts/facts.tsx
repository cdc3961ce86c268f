/** Names and values. @module */

import type { ComponentChildren } from "preact";
import { shown } from "./text.ts";

/** A list of names and values. */
export function Facts({ children }: { readonly children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>;
}

/** One of them. */
export function Fact({ name, children }: {
  readonly name: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Short texts of others beside one another. */
export function Chips({ texts }: { readonly texts: readonly string[] }) {
  return (
    <ul class="chips">
      {texts.map((text, i) => <li key={i}>{shown(text)}</li>)}
    </ul>
  );
}
