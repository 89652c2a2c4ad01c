import type { ProxySettings } from '../../adapters/kubernetes/migration/daemon-set.js';
import { formatDuration } from '../../application/words/duration.js';
import { completeCommandLine } from '../configuration/command-line.js';

/** What a command line and the files that it names ask for, as this program understands them. @throws as `completeCommandLine` */
export function readSettings(argv: readonly string[], readFile: (path: string) => string): ProxySettings {
  const { configuration } = completeCommandLine(argv, { readFile, hostname: () => 'node' });
  const { scheduler, excludeCIDRs, strictARP, ...others } = configuration.ipvs;
  const timeouts = ['tcpTimeout', 'tcpFinTimeout', 'udpTimeout'] as const;
  return {
    mode: configuration.mode,
    ipvs: {
      ...(scheduler && { scheduler }),
      ...(excludeCIDRs.length > 0 && { excludeCIDRs }),
      ...(strictARP && { strictARP }),
      timeouts: timeouts
        .filter((name) => others[name] > 0)
        .map((name) => `${name}: ${formatDuration(others[name])}`),
    },
  };
}
