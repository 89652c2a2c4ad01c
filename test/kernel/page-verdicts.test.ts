import type { Page } from 'playwright-core';
import type { Verdict } from '../../src/domain/verdict/verdict.js';
import { BROKEN_NODE, BROKEN_SERVICES, brokenObjects } from '../support/broken-services.js';
import { testServiceCidr } from '../support/testbed/cluster-objects.js';
import { ADDRESS, ServedPage } from '../support/browser/served-page.js';

let served: ServedPage;
let page: Page;
beforeAll(async () => {
  const items = [BROKEN_NODE, testServiceCidr, ...brokenObjects()];
  const objects = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  served = await ServedPage.open(0, objects, BROKEN_NODE.metadata.name);
  ({ page } = await served.browser.window());
});
afterAll(() => served?.close());

async function open(place: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(`${ADDRESS}/${place}`);
}

/** Objects alone make neither the kernel reject rules nor an endpoint unresponsive. */
const BY_OBJECTS = BROKEN_SERVICES.filter(
  ({ circumstance }) => circumstance !== 'rejected' && circumstance !== 'unresponsive',
);

describe.each(BY_OBJECTS)('shop/$name', ({ name, expected: { state, cause } }) => {
  /** As the commands print it. Of a mistake in a manifest, the sentence names its place. */
  let verdict: Verdict;
  beforeAll(async () => {
    const { body } = await served.node.get(`${ADDRESS}/debug/explain?subject=shop/${name}`);
    ({ verdict } = JSON.parse(body) as { readonly verdict: Verdict });
  });

  it('has the verdict of the node on its page', async () => {
    expect(verdict).toMatchObject({ state, cause });
    await open(`#/service/shop/${name}`);
    const shown = page.getByRole('region', { name: 'Verdict' }).getByRole('status');
    await shown.waitFor();
    const next = verdict.nextStep === undefined ? '' : ` Next step: ${verdict.nextStep}`;
    expect((await shown.innerText()).replaceAll(/\s+/g, ' ').trim()).toBe(
      `${state}: ${verdict.reason}${next}`,
    );
  });

  it('is among the problems if it has one', async () => {
    await open(`#/services?problems=true&search=shop/${name}`);
    const isProblem = state !== 'ok' && name !== 'missing';
    await page.locator('.count', { hasText: 'found' }).waitFor();
    const rows = await page.locator('tbody tr').allInnerTexts();
    const cells = rows.map((row) => row.split('\t').map((cell) => cell.trim()));
    const row = cells.find(([, service]) => service === `shop/${name}`);
    expect(row?.slice(0, 3)).toEqual(isProblem ? [state, `shop/${name}`, verdict.reason] : undefined);
  });
});

it('sorts the problems of the overview, errors first', async () => {
  await open('');
  const problems = page.locator('#problems').getByRole('listitem');
  await problems.first().waitFor();
  const states = (await problems.allInnerTexts()).map((text) => /error|warning/.exec(text)![0]);
  expect(states).toEqual([...states].sort());
  expect(new Set(states)).toContain('error');
});
