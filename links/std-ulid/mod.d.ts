/** A ULID that sorts after every earlier one made in this process. */
export declare function monotonicUlid(seedTime?: number): string;
