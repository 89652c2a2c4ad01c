/** How a command ends, on a node and in the plugin: the same for every command. The proxy itself ends with 0 or 1, as kube-proxy. */
export const ExitCode = {
  /** No problem was found. */
  ok: 0,
  /** A problem was found, a warning or an error; a name does not exist; or the command failed. */
  problem: 1,
  /** The command line is invalid. */
  usage: 2,
  /** No proxy, or no API server, is reachable. */
  notReachable: 3,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** @param isFound whether a problem was found */
export function exitCodeOf(isFound: boolean): ExitCode {
  return isFound ? ExitCode.problem : ExitCode.ok;
}
