import type { Page, Route } from 'playwright-core';
import { MARKUP, pageObjects } from '../support/browser/page-cluster.js';
import type { Window } from '../support/browser/browser-in.js';
import { ADDRESS, ServedPage } from '../support/browser/served-page.js';
import { until } from '../support/until.js';

/** Rows in the document at once: those of a window and a few above and below. */
const MOST_ROWS = 60;

let served: ServedPage;
let opened: Window;
let page: Page;
/** How much the window complained about before this test. */
let heard: number;
beforeAll(async () => {
  served = await ServedPage.open(1_000);
  opened = await served.browser.window();
  ({ page } = opened);
});
afterAll(() => served?.close());

/** Loads the page anew. @param place such as `#/services` */
async function open(place: string): Promise<void> {
  await page.goto('about:blank');
  heard = opened.complaints.length;
  await page.goto(`${ADDRESS}/${place}`);
}

const complaints = (): readonly string[] => opened.complaints.slice(heard);
const text = (selector: string): Promise<string> => page.locator(selector).innerText();

describe('the overview', () => {
  it('says how the proxy is, why, and what it is', async () => {
    await open('');
    await page.getByText('Degraded').waitFor();
    const health = await text('#health');
    for (const fact of ['node1', 'nftables', '1,002 service ports programmed'])
      expect(health).toContain(fact);
    await page.getByText('kube-proxy-ts on node1').waitFor();
    expect(await text('header')).toContain('live');
    expect(await page.title()).toBe('overview – node1 – kube-proxy-ts');
    expect(complaints()).toEqual([]);
  });

  it('asks once for its head and for what is below', async () => {
    const [statuses, others] = [[] as Route[], [] as string[]];
    const hold = (route: Route): void => void statuses.push(route);
    await page.route('**/debug/status', hold);
    page.on('request', (request) => others.push(new URL(request.url()).pathname));
    await open('');
    await until(
      'others are asked again',
      async () => others.filter((one) => one === '/debug/sync').length > 2,
    );
    expect(statuses).toHaveLength(1);
    await statuses[0]!.continue();
    await page.unroute('**/debug/status');
    await page.getByText('Degraded').waitFor();
    expect(await text('header')).toContain('kube-proxy-ts on node1');
  });

  it('shows names as they are written, and takes none for markup', async () => {
    await open('');
    const ignored = page.getByRole('region', { name: 'Ignored objects (2)' });
    await ignored.waitFor();
    // The proxy cuts what it quotes.
    expect(await ignored.innerText()).toContain(MARKUP.slice(MARKUP.indexOf('<script>'), -4));
    expect(await page.locator('img, body script').count()).toBe(0);
    expect(await page.evaluate(() => 'isTaken' in window)).toBe(false);
    expect(complaints()).toEqual([]);
  });
});

describe('the list of services', () => {
  const rows = () => page.locator('[role=grid] [role=rowgroup] [role=row]');

  it('has few of a thousand rows in the document, wherever it stands', async () => {
    await open('#/services');
    await page.getByText('1,002 services').waitFor();
    const grid = page.getByRole('grid');
    expect(await grid.getAttribute('aria-rowcount')).toBe('1003');
    for (const key of ['PageDown', 'End', 'PageUp', 'Home']) {
      await grid.press(key);
      expect(await rows().count()).toBeLessThan(MOST_ROWS);
    }
    await grid.evaluate((element) => (element.scrollTop = element.scrollHeight / 2));
    await page.locator('[aria-rowindex="502"]').waitFor();
    expect(await rows().count()).toBeLessThan(MOST_ROWS);
    expect(complaints()).toEqual([]);
  });

  it('is searched by words of names and addresses while they are typed, from the keyboard alone', async () => {
    await open('#/services');
    await page.getByText('1,002 services').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('many 172.30.3.231:80');
    await page.getByText('1 of 1,002 services').waitFor();
    expect(await rows().innerText()).toMatch(/programmed\s+many\/svc-999\s+ClusterIP\s+1\s/);
    // The search stands in the address, so it can be sent to somebody.
    expect(new URL(page.url()).hash).toContain('search=many+172.30.3.231');
    await page.getByRole('grid').press('Enter');
    await page.getByRole('heading', { name: 'many/svc-999' }).waitFor();
    await page.goBack();
    await page.getByText('1 of 1,002 services').waitFor();
  });

  it('finds endpoints by their addresses, and ports by their names', async () => {
    await open('#/services?search=10.245.3.231');
    await page.getByText('1 of 1,002 services').waitFor();
    expect(await rows().innerText()).toMatch(/many\/svc-999[^]*→ 10\.245\.3\.231:8080/);
    await page.getByLabel('Search').fill('cart:http');
    await rows().getByText('shop/cart').waitFor();
    expect(await rows().count()).toBe(1);
    await page.getByLabel('Search').fill('30186');
    await page.getByText('1 of 1,002 services').waitFor();
    expect(complaints()).toEqual([]);
  });

  it('is sorted by its titles, and shows one namespace', async () => {
    await open('#/services');
    await page.getByText('1,002 services').waitFor();
    await page.getByRole('button', { name: 'Endpoints' }).click();
    await page.locator('#services-0', { hasText: 'shop/empty' }).waitFor();
    await page.getByRole('button', { name: 'Endpoints' }).click();
    await page.locator('#services-0', { hasText: 'shop/cart' }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Endpoints' }).getAttribute('aria-sort')).toBe(
      'descending',
    );
    await page.getByLabel('Namespace').selectOption('shop');
    await page.getByText('2 of 1,002 services').waitFor();
    // Both stand in the address, and are found there.
    await open(new URL(page.url()).hash);
    await page.getByText('2 of 1,002 services').waitFor();
    expect(await rows().first().innerText()).toContain('shop/cart');
  });

  it('is reached with the arrow keys from the search, and left with them', async () => {
    await open('#/services?search=many/svc-1');
    await page.getByText('111 of 1,002 services').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    const grid = page.getByRole('grid');
    expect(await grid.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await grid.getAttribute('aria-activedescendant')).toBe('services-1');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    expect(await page.getByLabel('Search').evaluate((element) => element === document.activeElement)).toBe(
      true,
    );
  });

  it('shows only those without endpoints, and moves through them with the arrow keys', async () => {
    await open('#/services');
    await page.getByLabel('Without endpoints').check();
    await page.getByText('1 of 1,002 services').waitFor();
    expect(await rows().innerText()).toMatch(/no endpoint\s+shop\/empty/);
    await page.getByRole('radio', { name: 'All' }).check();
    const grid = page.getByRole('grid');
    for (let presses = 0; presses < 40; presses++) await grid.press('ArrowDown');
    const chosen = await grid.getAttribute('aria-activedescendant');
    expect(chosen).toBe('services-40');
    const place = await page.locator('#services-40').boundingBox();
    expect(place!.y).toBeLessThan(720);
  });
});

describe('the history', () => {
  it('has all changes, the newest first, and is searched', async () => {
    await served.place(pageObjects('10.244.2.21'));
    await open('#/history?search=shop/cart');
    const rows = page.locator('[role=grid] [role=rowgroup] [role=row]');
    await rows.getByText('+10.244.2.21:8080').waitFor();
    await served.place(pageObjects());
    await rows.first().getByText('-10.244.2.21:8080').waitFor();
    expect(await rows.first().innerText()).toMatch(
      /programmed\s+shop\/cart http TCP IPv4\s+.* m?s\s+endpoints 3 → 2/,
    );
    await page.getByLabel('Search').fill('+10.244.2.21');
    await page.getByText(/1 of \d+ changes/).waitFor();
    await page.getByLabel('Only what failed').check();
    await page.getByText(/0 of \d+ changes/).waitFor();
    expect(complaints()).toEqual([]);
  });
});

describe('one service', () => {
  it('is drawn, and told in words', async () => {
    await open('#/service/shop/cart');
    const drawing = page.getByRole('img', { name: /Drawing of port http/ });
    await drawing.waitFor();
    const drawn = await drawing
      .locator('.box')
      .evaluateAll((boxes) => boxes.map((box) => (box as HTMLElement).title));
    expect(drawn).toEqual([
      '172.30.200.6:80: cluster-ip',
      'Cluster: forward: to 2 endpoints',
      '10.244.2.11:8080: on node2: ready, used',
      '10.244.2.12:8080: on node2: ready, used',
      '*:30186: node-port',
      'Local: drop: the policy is Local, and no endpoint on this node is usable',
      '10.244.2.13:8080: not used, not ready, terminating',
    ]);
    // One path leads to the endpoints that are used, and one ends at its rule.
    expect(await drawing.locator('.path.good .endpoints > .box').count()).toBe(2);
    expect(await drawing.locator('.path.bad > .endpoints > .box').count()).toBe(0);
    await page.getByText('As a list').click();
    const list = await text('details[open]');
    for (const fact of [
      /172\.30\.200\.6:80 cluster-ip \(Cluster\): forward, to 2 endpoints/,
      /\*:30186 node-port \(Local\): drop, the policy is Local/,
      /10\.244\.2\.11:8080\s+on node2: ready, used/,
      /10\.244\.2\.13:8080\s+not used, not ready, terminating/,
    ])
      expect(list).toMatch(fact);
    expect(complaints()).toEqual([]);
  });

  it('follows what changes, without being asked again', async () => {
    await open('#/service/shop/cart');
    const drawing = page.getByRole('img', { name: /Drawing of port http/ });
    await drawing.waitFor();
    await served.place(pageObjects('10.244.2.14'));
    await drawing.getByText('10.244.2.14:8080', { exact: true }).waitFor();
    const newest = page.getByRole('region', { name: 'What changed' }).getByRole('row').nth(1);
    // The drawing and the list of changes are asked for one after the other.
    const change = newest.filter({ hasText: '+10.244.2.14:8080' });
    await change.waitFor();
    expect(await change.innerText()).toMatch(
      /programmed\s+shop\/cart http TCP IPv4\s+.* m?s\s+endpoints 2 → 3: \+10\.244\.2\.14:8080/,
    );
  });

  it('shows the connections of the Service, and the endpoint that answers nobody', async () => {
    await open('#/service/shop/cart');
    const traffic = page.getByRole('region', { name: 'Traffic' });
    await traffic.getByText('http TCP, IPv4').waitFor();
    await served.node.send([{ dst: '172.30.200.6', proto: 'tcp', port: 80, n: 8 }]);
    // The Service is sticky: all of them go to the same endpoint.
    await traffic.getByText('does not answer').waitFor();
    expect(await traffic.getByRole('row').nth(1).innerText()).toMatch(/^all\s+8\s+0\s+8/);
  });

  it('says why one is not served', async () => {
    await open('#/service/shop/none');
    expect(await text('.verdict')).toContain('Not served: there is no Service none in namespace shop');
  });
});

describe('a trace', () => {
  it('is asked for by a form, and says where a packet goes and by which rules', async () => {
    await open('#/trace');
    await page.getByLabel('From').fill('10.244.1.5');
    await page.getByLabel('To').fill('172.30.200.6:80/tcp');
    await page.keyboard.press('Enter');
    await page.getByText('A packet from 10.244.1.5 to 172.30.200.6:80/tcp is forwarded').waitFor();
    const shares = await page.getByRole('grid').getByRole('row').allInnerTexts();
    for (const [row, address] of ['10.244.2.11', '10.244.2.12'].entries())
      expect(shares[row + 1]).toMatch(new RegExp(`^${address}:8080\\s+33.3 %`));
    const steps = await page.locator('.steps > li').allInnerTexts();
    expect(steps.length).toBeGreaterThan(1);
    // What is alike for all endpoints is there once.
    expect(steps.filter((step) => step.includes('sends it to'))).toEqual([
      expect.stringMatching(/and \d more like it, for other endpoints/),
    ]);
    expect(complaints()).toEqual([]);
  });

  it('stands in the address, by the rules that the kernel has, too', async () => {
    await open('#/trace?from=node&to=172.30.200.7%3A80%2Ftcp&kernel=yes');
    await page.getByText(/to 172.30.200.7:80\/tcp is refused/).waitFor();
    expect(await page.getByLabel('Rules as the kernel has them now').isChecked()).toBe(true);
  });

  it('says what is wrong with a query', async () => {
    await open('#/trace?from=nobody&to=172.30.200.6:80');
    await page.getByRole('alert').waitFor();
    expect(await text('[role=alert]')).toMatch(/No trace: .*nobody/);
  });

  it('is said to be missing where the proxy does not know of it', async () => {
    await page.route('**/debug/trace?*', (asked) =>
      asked.fulfill({ status: 404, body: '404 page not found\n' }),
    );
    await open('#/trace?from=node&to=172.30.200.7:80');
    await page.getByText('No trace: this proxy does not answer debug/trace').waitFor();
    await page.unroute('**/debug/trace?*');
  });
});
