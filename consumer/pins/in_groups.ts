/** Many numbered things by groups, without an object for each. @module */

/** The numbers below `count` of each group, in their order. */
export function* inGroups(
  count: number,
  groups: number,
  groupOf: (number: number) => number,
): Generator<Uint32Array> {
  const ends = new Uint32Array(groups + 1);
  for (let i = 0; i < count; i++) ends[groupOf(i) + 1]!++;
  for (let group = 0; group < groups; group++) ends[group + 1]! += ends[group]!;
  const places = ends.slice();
  const sorted = new Uint32Array(count);
  for (let i = 0; i < count; i++) sorted[places[groupOf(i)]!++] = i;
  for (let group = 0; group < groups; group++) {
    yield sorted.subarray(ends[group], ends[group + 1]);
  }
}
