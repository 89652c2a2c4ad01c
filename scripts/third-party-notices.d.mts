export declare function thirdPartyNotices(
  packages: readonly {
    readonly name: string;
    readonly version: string;
    readonly license: string;
    readonly folder: string;
  }[],
): Promise<string>;
