/** Where the proxy's sockets of one family are. */
export interface ProxyAddress {
  /** The one address that they listen on; undefined for every address of this machine. */
  readonly listen: string | undefined;
  /** The address by which processes of this machine reach them; undefined while it has none. */
  readonly host: string | undefined;
}
