import type { Page } from 'playwright-core';
import { MARKUP, pageObjects } from '../support/browser/page-cluster.js';
import type { Window } from '../support/browser/browser-in.js';
import { ADDRESS, ServedPage } from '../support/browser/served-page.js';

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
afterEach(() => served.place(pageObjects()));
afterAll(() => served?.close());

/** Loads the page anew. @param place such as `#/services` */
async function open(place: string): Promise<void> {
  await page.goto('about:blank');
  heard = opened.complaints.length;
  await page.goto(`${ADDRESS}/${place}`);
}

const complaints = (): readonly string[] => opened.complaints.slice(heard);
const text = (selector: string): Promise<string> => page.locator(selector).innerText();
const rows = () => page.getByRole('table').locator('tbody tr');
const isFocused = (selector: string): Promise<boolean> =>
  page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector);

describe('the overview', () => {
  it('shows the state of the node, its facts and its age', async () => {
    await open('');
    await page.getByText(/node1 is/).waitFor();
    const node = await text('#node');
    for (const fact of ['nftables', '1,002 service ports programmed']) expect(node).toContain(fact);
    expect(node).not.toMatch(/Node\.js|IPv6|bridge/);
    expect(await text('header')).toMatch(/kube-proxy-ts on node1[^]*live, updated \d+ s ago/);
    expect(await page.title()).toBe('overview – node1 – kube-proxy-ts');
    expect(complaints()).toEqual([]);
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

describe('the search', () => {
  it.each(['', '#/history', '#/trace', '#/service/shop/cart', '#/services'])(
    'is reached with / from /%s, has the exact match first, and is cleared with Escape',
    async (where) => {
      await open(where);
      await page.locator('h1').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('svc-1');
      await page.getByText('111 Services found').waitFor();
      expect(await rows().first().innerText()).toMatch(/ok\s+many\/svc-1\s/);
      // The search is in the address, so it can be sent to somebody.
      expect(new URL(page.url()).hash).toBe('#/services?search=svc-1');
      await page.keyboard.press('Escape');
      await page.getByText(/ 1,00\d Services/).waitFor();
      expect(await page.getByLabel('Search').inputValue()).toBe('');
      await page.goBack();
      if (where !== '#/services') expect(new URL(page.url()).hash).toBe(where || '');
      expect(complaints()).toEqual([]);
    },
  );

  it('opens the first match with Enter, once it is known', async () => {
    await open('');
    await page.keyboard.press('/');
    await page.keyboard.type('many/svc-7');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'many/svc-7', exact: true }).waitFor();
  });

  it('finds addresses, node ports, endpoints and names of ports', async () => {
    await open('#/services?search=10.245.3.231');
    await page.getByText('1 Service found').waitFor();
    expect(await rows().innerText()).toMatch(/many\/svc-999[^]*→ 10\.245\.3\.231:8080/);
    for (const [search, service] of [
      ['cart:http', 'shop/cart'],
      ['service/cart', 'shop/cart'],
      ['30186', 'shop/cart'],
      ['many 172.30.3.231:80', 'many/svc-999'],
    ] as const) {
      await page.getByLabel('Search').fill(search);
      await page.locator(`[data-search="${search}"]`).waitFor();
      expect(await rows().first().innerText()).toContain(service);
    }
    expect(complaints()).toEqual([]);
  });

  it('leads to the same row when going back', async () => {
    await open('#/services?search=many');
    await page.getByText('1,000 Services found').waitFor();
    await page.getByRole('button', { name: 'Show 200 more of 800' }).click();
    const link = rows().nth(320).getByRole('link');
    const name = await link.innerText();
    await link.focus();
    const top = await page.evaluate(() => scrollY);
    expect(top).toBeGreaterThan(1_000);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name }).waitFor();
    await page.getByText('1 endpoint', { exact: true }).waitFor();
    expect(await page.evaluate(() => scrollY)).toBe(0);
    await page.goBack();
    await page.waitForFunction((wanted) => document.activeElement?.textContent === wanted, name);
    expect(await page.evaluate(() => scrollY)).toBe(top);
    expect(await rows().count()).toBe(400);
  });

  it('leads to the rows with the down arrow, and through them', async () => {
    await open('#/services?search=many/svc-1');
    await page.getByText('111 Services found').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await isFocused('tr:nth-child(3) td.name a')).toBe(true);
    await page.keyboard.press('ArrowUp');
    expect(await isFocused('tr:nth-child(2) td.name a')).toBe(true);
  });
});

describe('the list of Services', () => {
  it('has problems first, and only them with a filter that is in the address', async () => {
    await open('#/services');
    await page.getByText(/ 1,00\d Services/).waitFor();
    expect(await rows().first().innerText()).toMatch(/^\s*error/);
    await page.getByLabel('Problems only').check();
    await rows().filter({ hasText: 'ok' }).first().waitFor({ state: 'detached' });
    expect(await text('.count')).toMatch(/^\s*\d Services?/);
    expect(new URL(page.url()).hash).toBe('#/services?problems=true');
    const states = await rows().locator('td.state').allInnerTexts();
    expect(new Set(states.map((state) => state.trim()))).toEqual(new Set(['error']));
    const empty = rows().filter({ hasText: 'shop/empty' });
    expect(await empty.innerText()).toContain('list no endpoint');
  });

  it('offers to look a name up that no Service here has', async () => {
    await open('#/services?search=shop/none');
    await page.getByRole('link', { name: 'Look shop/none up in the cluster' }).click();
    await page.getByText('there is no Service none in namespace shop').waitFor();
  });
});

describe('the history', () => {
  it('has all changes, the newest first, and is filtered', async () => {
    await served.place(pageObjects('10.244.2.21'));
    await open('#/history?filter=shop/cart');
    await rows().getByText('+10.244.2.21:8080').waitFor();
    await served.place(pageObjects());
    await rows().first().getByText('-10.244.2.21:8080').waitFor();
    expect(await rows().first().innerText()).toMatch(
      /programmed\s+shop\/cart http IPv4\s+.* m?s\s+endpoints 3 → 2/,
    );
    await page.getByLabel('Filter').fill('+10.244.2.21');
    await page.getByText(/1 of \d+ changes/).waitFor();
    await page.getByLabel('Problems only').check();
    await page.getByText(/0 of \d+ changes/).waitFor();
    expect(complaints()).toEqual([]);
  });
});

describe('one Service', () => {
  it('shows its verdict, its frontends, and its endpoints, those that are not ready first', async () => {
    await open('#/service/shop/cart');
    const frontends = page.getByRole('table', { name: 'Frontends' });
    await frontends.waitFor();
    const verdict = await page.getByRole('region', { name: 'Verdict' }).innerText();
    expect(verdict).toMatch(/ok: externalTrafficPolicy is Local and no endpoint on the node is ready/);
    const list = await frontends.locator('tbody tr').allInnerTexts();
    expect(list[0]).toMatch(/172\.30\.200\.6:80\s+cluster-ip\s+Cluster\s+forward, .*2 endpoints/);
    expect(list[1]).toMatch(/\*:30186\s+node-port\s+Local\s+drop, externalTrafficPolicy is Local/);
    const endpoints = page.getByRole('table', { name: 'Endpoints' }).locator('tbody tr');
    const [first, second] = await endpoints.allInnerTexts();
    expect(first).toMatch(
      /10\.244\.2\.13:8080\s+not ready, terminating since \S+, not used, 0 open connections, safe to stop [\w ]+\s+pod-2-13\s+node2\s+b/,
    );
    expect(second).toMatch(/10\.244\.2\.11:8080\s+ready, used\s+pod-2-11\s+node2\s+b/);
    expect(complaints()).toEqual([]);
  });

  it('shows the next step', async () => {
    await open('#/service/shop/empty');
    const verdict = page.getByRole('region', { name: 'Verdict' });
    await verdict.getByText('error').first().waitFor();
    expect(await verdict.innerText()).toMatch(/Next step: .*\n?.*kubectl -n shop/);
  });

  it('follows changes', async () => {
    await open('#/service/shop/cart');
    const endpoints = page.getByRole('table', { name: 'Endpoints' });
    await endpoints.waitFor();
    await served.place(pageObjects('10.244.2.14'));
    await endpoints.getByText('10.244.2.14:8080', { exact: true }).waitFor();
    const newest = page.getByRole('table', { name: 'Last changes' }).locator('tbody tr').first();
    const change = newest.filter({ hasText: '+10.244.2.14:8080' });
    await change.waitFor();
    expect(await change.innerText()).toMatch(
      /programmed\s+shop\/cart http IPv4\s+.* m?s\s+endpoints 2 → 3: \+10\.244\.2\.14:8080/,
    );
  });

  it('shows the connections of the Service, and the endpoint that does not answer', async () => {
    await open('#/service/shop/cart');
    await page.getByText('0 open, 0 new/s, 0 unanswered').waitFor();
    await served.node.send([{ dst: '172.30.200.6', proto: 'tcp', port: 80, n: 8 }]);
    // The Service is sticky: all of them go to the same endpoint.
    await page.getByText(/8 open, .* new\/s, 8 unanswered/).waitFor();
    const first = page.getByRole('table', { name: 'Endpoints' }).locator('tbody tr').first();
    await first.getByText('does not answer').waitFor();
  });

  it('leads to its trace, with the form filled in', async () => {
    await open('#/service/shop/cart');
    await page.getByRole('link', { name: 'Trace a connection to it' }).click();
    await page.getByText('A packet from node to shop/cart is forwarded').waitFor();
    expect(await page.getByLabel('To').inputValue()).toBe('shop/cart');
    expect(await page.getByLabel('From').inputValue()).toBe('node');
  });
});

describe('a trace', () => {
  it.each([
    ['10.244.1.5', '172.30.200.6:80/tcp'],
    ['pod/many/pod-0-7', 'shop/cart:http'],
    ['pod/shop/pod-2-11', 'service/cart'],
  ])('from %s to %s shows the endpoints and the rules', async (from, to) => {
    await open('#/trace');
    await page.getByLabel('From').fill(from);
    await page.getByLabel('To').fill(to);
    await page.keyboard.press('Enter');
    await page.getByText(/A packet from .* is forwarded/).waitFor();
    await page.getByText(/packet: 10\.24\d.* → 172\.30\.200\.6:80\/TCP/).waitFor();
    const shares = await rows().allInnerTexts();
    for (const [row, address] of ['10.244.2.11', '10.244.2.12'].entries())
      expect(shares[row]).toMatch(new RegExp(`^${address}:8080\\s+\\d\\d`));
    const steps = await page.locator('.steps > li').allInnerTexts();
    expect(steps.length).toBeGreaterThan(1);
    expect(complaints()).toEqual([]);
  });

  it('is in the address, by the rules that the kernel has, too', async () => {
    await open('#/trace?from=node&to=172.30.200.7%3A80%2Ftcp&kernel=true');
    await page.getByText(/to 172.30.200.7:80\/tcp is rejected/).waitFor();
    expect(await page.getByLabel('Current rules of the kernel').isChecked()).toBe(true);
  });

  it.each([
    ['nobody', '172.30.200.6:80', /No trace: .*nobody/],
    ['node', 'shop/none', /No trace: .*there is no Service none in namespace shop/],
    ['pod/none', 'shop/cart', /No trace: no endpoint of a Service is the pod none/],
  ])('from %s to %s shows the mistake', async (from, to, message) => {
    await open(`#/trace?from=${from}&to=${to}`);
    await page.getByRole('alert').waitFor();
    expect(await text('[role=alert]')).toMatch(message);
  });

  it('shows that the proxy has no such route', async () => {
    await page.route('**/debug/trace?*', (asked) =>
      asked.fulfill({ status: 404, body: '404 page not found\n' }),
    );
    await open('#/trace?from=node&to=172.30.200.7:80');
    await page.getByText('No trace: this proxy does not answer debug/trace').waitFor();
    await page.unroute('**/debug/trace?*');
  });
});
