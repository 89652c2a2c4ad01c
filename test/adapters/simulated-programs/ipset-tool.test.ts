import {
  IpSetRejectedError,
  IpSetUnsupportedError,
  type IpSetStep,
} from '../../../src/adapters/ipset/ip-sets.js';
import { ToolMissingError } from '../../../src/adapters/tool-programs.js';
import { Place } from './place.js';

const CLUSTER_IPS = { name: 'KUBE-CLUSTER-IP', type: 'hash:ip,port', family: 'IPv4' } as const;
const add = (member: string, set: string = CLUSTER_IPS.name): IpSetStep => ({ kind: 'add', set, member });

describe('the program’s tool with a simulated ipset', () => {
  let place: Place;
  beforeEach(() => (place = new Place('nft')));

  it('makes sets, fills them and reads them', async () => {
    const tool = place.setTool();
    expect(await tool.version()).toBe('7.17');
    const steps: IpSetStep[] = [
      { kind: 'create', set: CLUSTER_IPS },
      add('10.96.0.1,tcp:80'),
      add('10.96.0.1,udp:53'),
    ];
    expect(await tool.restore(steps)).toEqual([undefined, undefined, undefined]);
    expect(
      await tool.restore([...steps, { kind: 'delete', set: CLUSTER_IPS.name, member: '10.96.0.1,udp:53' }]),
    ).toEqual(Array(4).fill(undefined));
    expect(await tool.read(new Set([CLUSTER_IPS.name]))).toEqual({
      sets: [{ ...CLUSTER_IPS, members: new Set(['10.96.0.1,tcp:80']) }],
      foreign: [],
    });
  });

  it('refuses single steps, and takes the others', async () => {
    place.programs.faults.refuseSetLines('10.96.0.2');
    const outcomes = await place
      .setTool()
      .restore([
        { kind: 'create', set: CLUSTER_IPS },
        add('10.96.0.1,tcp:80'),
        add('10.96.0.2,tcp:80'),
        add('10.96.0.3,tcp:80', 'NOPE'),
        add('10.96.0.4,tcp:80'),
      ]);
    expect(outcomes.map((outcome) => outcome instanceof IpSetRejectedError)).toEqual([
      false,
      false,
      true,
      true,
      false,
    ]);
    expect([...place.programs.sets.get(CLUSTER_IPS.name)!.members]).toEqual([
      '10.96.0.1,tcp:80',
      '10.96.0.4,tcp:80',
    ]);
  });

  it('keeps sets that rules look into', async () => {
    await place.setTool().restore([{ kind: 'create', set: CLUSTER_IPS }]);
    const rule = `-m set --match-set ${CLUSTER_IPS.name} dst,dst -j ACCEPT`;
    await place.tool().restore('IPv4', [`*filter\n-A OUTPUT ${rule}\nCOMMIT\n`]);
    const [outcome] = await place.setTool().restore([{ kind: 'destroy', set: CLUSTER_IPS.name }]);
    expect(outcome?.message).toContain('it is in use by a kernel component');
    await place.tool().restore('IPv4', [`*filter\n-D OUTPUT ${rule}\nCOMMIT\n`]);
    expect(await place.setTool().restore([{ kind: 'destroy', set: CLUSTER_IPS.name }])).toEqual([undefined]);
  });

  it('may be missing, or useless', async () => {
    place.programs.faults.fail({
      of: 'ipset',
      exitCode: 1,
      stderr: 'ipset v7.17: Cannot open session to kernel.\n',
      when: 'before',
      times: 1,
    });
    await expect(place.setTool().read(new Set(['A']))).rejects.toThrow(IpSetUnsupportedError);
    place.programs.faults.missing.add('ipset');
    await expect(place.setTool().version()).rejects.toThrow(ToolMissingError);
  });
});
