import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { anchor } from './anchor.mjs';
import { recordings } from './recordings.mjs';
import { repositoryLinks } from './repository-links.mjs';
import { SECTIONS } from './sections.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path) => readFileSync(`${root}/${path}`, 'utf8');
const { homepage, description } = JSON.parse(read('package.json'));
const address = homepage.replace(/#.*/, '');
const pages = ['README.md', ...SECTIONS.flatMap(([, paths]) => paths)];
const titleOf = (path) => /^# (.*)$/m.exec(read(path))[1].replaceAll('`', '');

/** The pages stand outside of the folder that has the packages: what renders them finds Vue only if it is not looked for from there. */
const vueOfThisFolder = {
  name: 'vue-of-this-folder',
  enforce: 'pre',
  resolveId: (id, _importer, { ssr }) => (ssr && /^vue(\/|$)/.test(id) ? { id, external: true } : undefined),
};

/** The site of the same files that people read in the repository. Dead links fail the build. */
export default defineConfig({
  title: 'kube-proxy-ts',
  description,
  base: process.env.SITE_BASE || '/',
  srcDir: root,
  srcExclude: ['{.github,bench,build,coverage,dist,lib,scripts,site,src,test}/**', 'docs/api/**'],
  // Terminals are wide.
  transformPageData: ({ relativePath, frontmatter }) =>
    relativePath === 'docs/internals/recordings.md'
      ? { frontmatter: { ...frontmatter, aside: false } }
      : undefined,
  outDir: `${root}/build/site`,
  rewrites: { 'README.md': 'index.md' },
  lang: 'en-US',
  vite: { plugins: [vueOfThisFolder], build: { chunkSizeWarningLimit: 1000 } },
  markdown: {
    anchor: { slugify: anchor },
    config: (markdown) => markdown.use(recordings).use(repositoryLinks, { root, address, pages }),
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Install', link: '/docs/install/README' },
      { text: 'Commands', link: '/docs/commands' },
      { text: 'Changes', link: '/CHANGELOG' },
    ],
    sidebar: SECTIONS.map(([text, paths]) => ({
      text,
      collapsed: text === 'Internals' || text.includes('behavior'),
      items: paths.map((path) => ({ text: titleOf(path), link: `/${path.replace(/\.md$/, '')}` })),
    })),
    socialLinks: [{ icon: 'github', link: address }],
    editLink: { pattern: `${address}/edit/main/:path`, text: 'Edit this page' },
  },
});
