// Unpacks the browser and the fonts that its pages are drawn with into the folder that is given; touches nothing else.
import { execFileSync } from "node:child_process";
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";

const folder = process.argv[2];
const packages = fileURLToPath(new URL("../node_modules/", import.meta.url));
const packed = join(packages, "@sparticuz/chromium/bin");
/** The weights that the page uses; of Chinese there is none between medium and bold. */
const FONTS = {
  "@expo-google-fonts/inter": /^(400Regular|500Medium|600SemiBold|700Bold)\/.*\.ttf$/,
  "@expo-google-fonts/jetbrains-mono": /^400Regular\/.*\.ttf$/,
  "@embedpdf/fonts-sc": /(Regular|Medium|Bold)\.otf$/,
};

async function unpack(name, place) {
  const bytes = await promisify(brotliDecompress)(await readFile(join(packed, `${name}.br`)));
  await writeFile(place, bytes);
}

async function unpackTar(name) {
  const place = join(folder, name);
  await unpack(name, place);
  execFileSync("tar", ["-xf", place, "-C", folder]);
  await rm(place);
}

async function copyFonts() {
  await mkdir(join(folder, "fonts"));
  for (const [name, wanted] of Object.entries(FONTS)) {
    const files = (await readdir(join(packages, name), { recursive: true })).filter((file) => wanted.test(file));
    for (const file of files) await cp(join(packages, name, file), join(folder, "fonts", file.replaceAll("/", " ")));
  }
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** Makes a page look the same, independent of the fonts of the machine. */
const settings = (place) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${escaped(join(place, "fonts"))}</dir>
  <cachedir>${escaped(join(place, "cache"))}</cachedir>
  ${alias("system-ui", "Inter")}
  ${alias("sans-serif", "Inter")}
  ${alias("monospace", "JetBrains Mono")}
</fontconfig>
`;

const alias = (name, font) => `<alias binding="same"><family>${name}</family><prefer><family>${font}</family><family>Noto Sans S Chinese</family></prefer></alias>`;

await mkdir(folder, { recursive: true });
await unpack("chromium", join(folder, "chromium"));
await chmod(join(folder, "chromium"), 0o755);
for (const name of ["al2023.tar", "swiftshader.tar"]) await unpackTar(name);
await copyFonts();
await writeFile(join(folder, "fonts.conf"), settings(process.argv[3]));
