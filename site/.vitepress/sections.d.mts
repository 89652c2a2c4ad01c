export declare const SECTIONS: readonly (readonly [title: string, pages: readonly string[]])[];
