import type { V1Container } from '@kubernetes/client-node';
import type { Host } from '../testbed/host.js';

/** What a container is run with. */
export interface Surroundings {
  /** The words for bwrap that bring its root file system, which nobody can write to. */
  readonly root: readonly string[];
  /** Folders and files of this machine by the names of the pod's volumes: one for each mount. */
  readonly volumes: Readonly<Record<string, string>>;
  /** The values of its environment that come from the pod. */
  readonly fieldValue: (name: string) => string;
  /** What stands for the command's first word. */
  readonly program?: readonly string[];
}

/**
 * The command line that runs a container as its pod describes it, in the network of a host: its command, its mounts,
 * its capabilities and no others, without a way to gain more, on a root file system that is not writable.
 */
export function containerCommandLine(
  host: Host,
  { command = [], env = [], securityContext, volumeMounts = [] }: V1Container,
  { root, volumes, fieldValue, program = command.slice(0, 1) }: Surroundings,
): string[] {
  const mounts = volumeMounts.flatMap(({ name, mountPath, readOnly }) => [
    readOnly ? '--ro-bind' : '--bind',
    volumes[name]!,
    mountPath.replace(/^\/var\/run\//, '/run/').replace(/^\/lib\//, '/usr/lib/'),
  ]);
  const privileged = securityContext?.privileged === true;
  const granted = (securityContext?.capabilities?.add ?? []).map((capability) => `CAP_${capability}`);
  const variables = new Map(env.map(({ name, value }) => [name, value ?? fieldValue(name)]));
  return host.commandLine([
    'bwrap',
    ...['--die-with-parent', '--unshare-pid', '--clearenv'],
    ...['--setenv', 'PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    ...root,
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/run'],
    ...[privileged ? '--bind' : '--ro-bind', '/sys', '/sys'],
    ...(privileged ? [] : ['--ro-bind', '/proc/sys', '/proc/sys']),
    ...mounts,
    ...['--remount-ro', '/'],
    ...(privileged
      ? ['--cap-add', 'ALL']
      : ['--cap-drop', 'ALL', ...granted.flatMap((name) => ['--cap-add', name])]),
    ...program,
    ...command
      .slice(1)
      .map((word) => word.replace(/\$\((\w+)\)/g, (_, name: string) => variables.get(name)!)),
  ]);
}
