import { CommandNode } from '../support/program/command-node.js';
import { DriverBundle, type Driver } from '../support/program/in-namespace.js';
import { clusterObjects, type TestService } from '../support/testbed/cluster-objects.js';
import { contentsOf, readTable } from '../support/testbed/ruleset.js';
import { until } from '../support/until.js';
import type { NeighboursDriver } from './neighbours/driver.js';
import { strangeTables, table, TABLE_FLAG, FAMILY } from './neighbours/strange-objects.js';

const web: TestService = {
  name: 'web',
  clusterIP: '172.30.20.6',
  ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30186 }],
  endpoints: ['10.244.1.11', '10.244.1.12'],
};
const other: TestService = {
  ...web,
  name: 'other',
  clusterIP: '172.30.20.7',
  ports: [{ ...web.ports[0]!, nodePort: 30187 }],
};

let bundle: DriverBundle<NeighboursDriver>;
let node: CommandNode;
let driver: Driver<NeighboursDriver>;

beforeAll(async () => {
  bundle = await DriverBundle.make<NeighboursDriver>(new URL('./neighbours/driver.ts', import.meta.url));
});
afterAll(() => bundle.remove());
beforeEach(async () => {
  node = await CommandNode.open('neighbours');
  driver = node.namespace.drive(bundle);
});
afterEach(() => node.close());

const write = (...services: readonly TestService[]): Promise<string> =>
  node.write('objects.yaml', clusterObjects(services));

it('x', async () => {
  for (const m of strangeTables()) console.log(JSON.stringify(m).slice(0, 150), await driver.ask('send', 'a', [m]));
  console.log(await driver.ask('send', 'a', [table(FAMILY.ip, 'owned', TABLE_FLAG.OWNER | TABLE_FLAG.PERSIST)]));
  console.log(await node.namespace.run(['nft', 'list', 'ruleset']).catch(String));
  console.log((await driver.ask('dump', false)).length);
});
