export declare function anchor(heading: string): string;
