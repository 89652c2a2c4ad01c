/** In place of the generated client of client-node, a thousand modules that nothing here uses: the bundle leaves them out as well. */
export const createConfiguration = undefined;
export const ServerConfiguration = undefined;
