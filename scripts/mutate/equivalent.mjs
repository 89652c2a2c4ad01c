/**
 * Code in which a fault changes nothing that anybody could notice: the end of the file's path, a part of the line, and why.
 */
export const EQUIVALENT = [];
