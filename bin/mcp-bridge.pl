# The bridge between an agent's program, on standard input and output, and perdure's daemon: `perdure mcp` becomes this script.
# It only copies lines. Each line of the program is sent as "NUMBER AGE_SECONDS LINE"; the daemon answers "NUMBER ANSWER", with no
# answer where none is due. What was not answered when a daemon died is sent to the next one, which this script starts.
# No module is loaded: each would cost more memory than the rest of the script.
use strict;

my ($path, $pending_max, $retry_max, @start_daemon) = @ARGV;
my $hello = delete $ENV{PERDURE_BRIDGE_HELLO};
my ($number, $typed, $received, $pending_bytes) = (0, '', '', 0);
my %pending;    # the lines that were not answered, by number: the line, and when it came
my ($daemon, $ready, $starter);    # the socket, whether the daemon has greeted, and the process that starts a daemon
my ($retry_at, $retry_s) = (0, 0.2);
my $EINTR = 4;
$SIG{PIPE} = 'IGNORE';

for (;;) {
  if (defined $starter && waitpid($starter, 1) != 0) { undef $starter; $retry_at = 0 if $? == 0 }
  reach_daemon() if %pending && !defined $daemon && !defined $starter && time >= $retry_at;
  my $readable = '';
  vec($readable, 0, 1) = 1 if $pending_bytes < $pending_max;
  vec($readable, fileno($daemon), 1) = 1 if defined $daemon;
  my $wait = defined $starter ? 0.02 : %pending && !defined $daemon ? $retry_at - time : undef;
  $wait = 0.01 if defined $wait && $wait < 0.01;
  next if select($readable, undef, undef, $wait) <= 0;
  read_program() if vec($readable, 0, 1);
  read_daemon() if defined $daemon && vec($readable, fileno($daemon), 1);
}

# Takes what the agent's program has written; ends with it.
sub read_program {
  my $got = sysread(STDIN, $typed, 65536, length $typed);
  exit 0 if defined $got ? $got == 0 : $! != $EINTR;
  while ($typed =~ s/^([^\n]*)\n//) {
    next if $1 eq '';
    $pending{++$number} = [$1, time];
    $pending_bytes += length $1;
    send_line($number) if $ready;
  }
}

sub read_daemon {
  my $got = sysread($daemon, $received, 65536, length $received);
  return lose_daemon() unless $got;
  while ($received =~ s/^([^\n]*)\n//) {
    my $line = $1;
    if (!$ready) {
      return refuse_daemon() if $line !~ /^\{"perdure"/;
      ($ready, $retry_s) = (1, 0.2);
      send_line($_) for sort { $a <=> $b } keys %pending;
    } elsif ($line =~ /^([0-9]+) (.*)$/s) {
      my ($answered, $text) = ($1, $2);
      my $asked = delete $pending{$answered};
      $pending_bytes -= length $asked->[0] if $asked;
      # A daemon that was asked again may answer what an earlier one has answered.
      write_all(\*STDOUT, "$text\n") || exit 0 if $text ne '' && ($asked || $answered == 0);
    }
  }
}

sub send_line {
  my ($line, $came) = @{ $pending{ $_[0] } };
  my $age = int(time - $came);
  lose_daemon() if defined $daemon && !write_all($daemon, "$_[0] $age $line\n");
}

# Connects to the daemon, or has one started.
sub reach_daemon {
  my $address = $^O eq 'linux' ? pack('S a*', 1, "$path\0") : pack('C C a*', length($path) + 3, 1, "$path\0");
  my $socket;
  if (socket($socket, 1, 1, 0) && connect($socket, $address) && write_all($socket, "$hello\n")) {
    ($daemon, $ready, $received) = ($socket, 0, '');
    return;
  }
  back_off();
  $starter = fork;
  return if !defined $starter || $starter;
  open STDIN, '<', '/dev/null';
  open STDOUT, '>', '/dev/null';
  open STDERR, '>', '/dev/null';
  exec { $start_daemon[0] } @start_daemon;
  exit 127;
}

sub lose_daemon { close $daemon; undef $daemon; $ready = 0; }

# An older daemon does not know bridges; it is asked again later, because it may have been replaced by then.
sub refuse_daemon {
  print STDERR "perdure: the daemon is of an older version: perdure daemon stop (workers live on)\n";
  lose_daemon();
  back_off();
}

sub back_off {
  $retry_at = time + $retry_s;
  $retry_s = $retry_s * 2 > $retry_max ? $retry_max : $retry_s * 2;
}

sub write_all {
  my ($to, $text) = @_;
  while (length $text) {
    my $wrote = syswrite($to, $text);
    if (defined $wrote) { substr($text, 0, $wrote, '') } elsif ($! != $EINTR) { return 0 }
  }
  return 1;
}
