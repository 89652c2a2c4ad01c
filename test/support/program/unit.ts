/** What a systemd unit of this project starts, and as whom. */
export interface Unit {
  /** The command line of `ExecStart`. */
  readonly command: readonly string[];
  /** Goes before a command: makes it run as a user of its own with the unit's capabilities, and without a way to gain more. */
  readonly privileges: readonly string[];
}

/** Reads a unit that has a dynamic user and some capabilities; throws for any other. */
export function readUnit(text: string): Unit {
  const setting = (name: string): string => {
    const value = new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1];
    if (value === undefined) throw new Error(`the unit does not say ${name}`);
    return value;
  };
  const capability = (name: string): string => setting(name).replace('CAP_', '').toLowerCase();
  if (setting('DynamicUser') !== 'yes') throw new Error('the unit runs as root');
  const ambient = capability('AmbientCapabilities');
  return {
    command: setting('ExecStart').split(' '),
    privileges: [
      ...['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--no-new-privs'],
      `--bounding-set=-all,+${capability('CapabilityBoundingSet')}`,
      ...[`--inh-caps=-all,+${ambient}`, `--ambient-caps=-all,+${ambient}`],
    ],
  };
}
