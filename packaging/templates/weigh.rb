class Weigh < Formula
  desc "Parallel disk-usage analyzer with exact totals"
  homepage "@repository@"
  url "@repository@/releases/download/v@version@/weigh-@version@.tar.gz"
  sha256 "@sum weigh-@version@.tar.gz@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args
    man1.install "man/weigh.1"
    bash_completion.install "completions/weigh.bash" => "weigh"
    fish_completion.install "completions/weigh.fish"
    zsh_completion.install "completions/_weigh"
  end

  test do
    (testpath/"tree/file").write "a" * 5000
    output = shell_output("#{bin}/weigh --summarize -s #{testpath}/tree/file")
    assert_match(/\A5000\t/, output)
    assert_equal "weigh #{version}\n", shell_output("#{bin}/weigh --version")
  end
end
